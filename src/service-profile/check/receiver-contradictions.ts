import type { Contradiction } from './contradiction.ts';
import type { ServiceProfile } from '../profile.ts';

const PART = 'part:';

/** What no delivery can satisfy. */
export function receiverContradictions({ signature }: ServiceProfile): readonly Contradiction[] {
  return signature.kind === 'hmac' ? impossibleSignature(signature) : [];
}

function impossibleSignature(signature: ServiceProfile['signature']): readonly Contradiction[] {
  const { header, prefix, separator, signed, timestamp } = signature;
  const found: Contradiction[] = [];
  const say = (key: keyof typeof signature, message: string): void =>
    void found.push({ path: ['signature', key], message });
  if (signed.includes('{timestamp}') && timestamp === null)
    say('timestamp', 'must say where the timestamp stands, for signature.signed holds {timestamp}');
  if (signed.toLowerCase().includes(`{header:${header.toLowerCase()}}`))
    say('signed', `must not hold {header:${header}}: the signature cannot sign itself`);
  if (separator !== '' && prefix.includes(separator))
    say('prefix', `must not hold signature.separator ${JSON.stringify(separator)}, at which the parts are divided`);
  if (timestamp?.startsWith(PART) === true) {
    const part = timestamp.slice(PART.length);
    if (separator === '')
      say('separator', 'must separate the parts of the header, for signature.timestamp is one of them');
    else if (part.includes(separator))
      say(
        'timestamp',
        `must not hold signature.separator ${JSON.stringify(separator)}, at which the parts are divided`,
      );
    if (part === prefix) say('timestamp', 'must have another prefix than the signature, which has signature.prefix');
  }
  return found;
}
