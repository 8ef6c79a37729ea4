import type { Hmac } from 'node:crypto';
import { headerLines } from '../header-lines.ts';
import { refuse, type Refused } from './refusal.ts';
import type { RequestHead } from './request-head.ts';

/** The bytes around and between the bodies, in order; null stands for the body. */
export type SignedContent = readonly (Uint8Array | null)[];

/** What a template stands for besides the body and what the head has. */
export interface SignedValues {
  /** As it came. */
  readonly timestamp: string;
  /** The registered address; null: not known. */
  readonly url: string | null;
}

/** Puts what came into a template of what is signed; all but the body, which is not read yet. */
export type SignedTemplate = (head: RequestHead, values: SignedValues) => SignedContent | Refused;

const PLACEHOLDER = /(\{[^{}]*\})/;
const HEADER = '{header:';
const ONLY_BODY: SignedContent = [null];

/** Compiles a template such as `{timestamp}.{body}`. */
export function compileTemplate(template: string): SignedTemplate {
  if (template === '{body}') return () => ONLY_BODY;
  const parts = template.split(PLACEHOLDER).filter((part) => part !== '');
  return (head, values) => {
    const content: (Uint8Array | null)[] = [];
    for (const part of parts) {
      const bytes = bytesOf(part, head, values);
      if (bytes !== null && !(bytes instanceof Uint8Array)) return bytes;
      content.push(bytes);
    }
    return content;
  };
}

/** Feeds the content and the body's raw bytes to a hash. */
export function feed(hmac: Hmac, content: SignedContent, raw: Uint8Array): Hmac {
  for (const part of content) hmac.update(part ?? raw);
  return hmac;
}

function bytesOf(part: string, head: RequestHead, { timestamp, url }: SignedValues): Uint8Array | null | Refused {
  if (part === '{body}') return null;
  // Node reads a header's bytes as Latin-1; this gives the same bytes back.
  if (part === '{timestamp}') return Buffer.from(timestamp, 'latin1');
  if (part === '{url}') return url === null ? refuse('signed-url-unknown') : Buffer.from(url);
  if (!part.startsWith(HEADER)) return Buffer.from(part);
  const lines = headerLines(head.rawHeaders, part.slice(HEADER.length, -1));
  const [line] = lines;
  if (line === undefined) return refuse('signed-header-missing');
  return lines.length > 1 ? refuse('signed-header-repeated') : Buffer.from(line, 'latin1');
}
