import { z } from 'zod';
import { headerName } from './section-types.ts';

const TEMPLATE = /^(?:[^{}]|\{(?:body|timestamp|url|header:[!#$%&'*+.^_`|~0-9A-Za-z-]+)\})*$/;
const TIMESTAMP = /^(?:header:[!#$%&'*+.^_`|~0-9A-Za-z-]+|part:.{1,32})$/;

/** How deliveries prove where they come from. */
export const SignatureSection = z.strictObject({
  kind: z
    .enum(['hmac', 'token', 'basic', 'path'])
    .describe(
      'hmac: the header holds a signature; token: the header holds the secret itself; basic: HTTP basic authentication whose password is the secret; path: the address of the receiver ends with the secret',
    ),
  header: headerName.describe('The header that holds the signature, or the token'),
  algorithm: z.enum(['sha1', 'sha256', 'sha384', 'sha512']),
  encoding: z.enum(['hex', 'base64', 'base64url']).describe('How the signature is written'),
  prefix: z.string().max(64).describe('Stands before each signature, such as "sha256=", "v1=" or "v1,"'),
  separator: z
    .enum(['', ',', ';', ' '])
    .describe(
      'Stands between several parts of the header, of which any signature that fits counts; "": one signature alone',
    ),
  signed: z
    .string()
    .max(500)
    .refine((text) => TEMPLATE.test(text) && text.includes('{body}'), {
      error: 'must hold {body}, and beside text only {timestamp}, {url} and {header:NAME}',
    })
    .describe(
      'What is signed: {body}, {timestamp}, {url} (the registered address) and {header:NAME} stand for what was received',
    ),
  timestamp: z
    .string()
    .regex(TIMESTAMP, { error: 'must be "header:NAME" or "part:PREFIX", such as "part:t="' })
    .nullable()
    .describe(
      'Where the time of signing stands (seconds, milliseconds, ISO 8601 with a zone, or as in HTTP): a header, or the part of the signature header with that prefix',
    ),
  toleranceSeconds: z
    .number()
    .int()
    .min(1)
    .max(86_400)
    .describe('A delivery whose timestamp is further away is refused'),
  secret: z
    .strictObject({
      prefix: z.string().max(64).describe('Taken off the secret before it is used, such as "whsec_"'),
      encoding: z.enum(['text', 'base64', 'base64url', 'hex']).describe('How the key is written in the secret'),
    })
    .describe('hmac: how the key is read from the secret; the other kinds use WEBHOOK_SECRET as it is'),
});
