import { kindOfKey } from './key-kind.ts';
import type { TextMask } from './mask-text.ts';

/** Values that say nothing of anybody. */
const PLAIN =
  /^(?:content-type|content-length|content-encoding|date|retry-after|transfer-encoding|x-ratelimit-[a-z-]+|ratelimit-[a-z-]+)$/i;
/** Those whose steps and parameters are masked one by one. */
const ADDRESSES = /^(?:location|content-location|link)$/i;
/** What services write before the parts of a signature. */
const LABEL = /^((?:t|ts|v\d{1,2}a?|sha(?:1|256|384|512)|sig|signature|basic|bearer)(?:[=:-]|$))?(.*)$/is;

/** Masks header lines (names and values in turn); `secret` are lower-case names of headers that prove the sender. */
export function maskHeaders(
  lines: readonly string[],
  { text, secret = new Set() }: { readonly text: TextMask; readonly secret?: ReadonlySet<string> },
): string[] {
  return lines.map((line, index) => (index % 2 === 0 ? line : maskedValue(lines[index - 1] ?? '', line)));

  function maskedValue(name: string, value: string): string {
    const kind = kindOfKey(name);
    if (secret.has(name.toLowerCase()) || kind === 'secret') return maskedProof(value);
    if (PLAIN.test(name)) return value;
    if (ADDRESSES.test(name)) return value.replaceAll(/<[^>]*>|^[^<].*$/g, (one) => maskedAddress(one));
    if (kind === 'word') return text.word(value);
    if (kind === 'id') return text.id(value);
    return kind === 'private' ? text.whole(value) : text.unknown(value);
  }

  function maskedAddress(one: string): string {
    return one.startsWith('<') ? `<${text.id(one.slice(1, -1))}>` : text.id(one);
  }

  /** Of a signature its form stays, and nothing else. */
  function maskedProof(value: string): string {
    return value
      .split(/([,; ])/)
      .map((part, index) => {
        if (index % 2 === 1) return part;
        const [, label = '', rest = ''] = LABEL.exec(part) ?? [];
        return label + text.secret(rest);
      })
      .join('');
  }
}
