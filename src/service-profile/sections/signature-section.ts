import { z } from 'zod';
import { headerName } from './section-types.ts';

const TEMPLATE = /^(?:[^{}]|\{(?:body|timestamp|url|header:[!#$%&'*+.^_`|~0-9A-Za-z-]+)\})*$/;
const TIMESTAMP = /^(?:header:[!#$%&'*+.^_`|~0-9A-Za-z-]+|part:.{1,32})$/;

/** How deliveries prove where they come from. */
export const SignatureSection = z
  .strictObject({
    kind: z
      .enum(['hmac', 'token', 'basic', 'path'])
      .describe(
        '`hmac` (the header holds a signature), `token` (the header holds the secret itself), `basic` (HTTP basic authentication whose password is the secret) or `path` (the address of the receiver ends with the secret)',
      ),
    header: headerName.describe('the header that holds the signature, or the token'),
    algorithm: z.enum(['sha1', 'sha256', 'sha384', 'sha512']).describe('`sha1`, `sha256`, `sha384` or `sha512`'),
    encoding: z
      .enum(['hex', 'base64', 'base64url'])
      .describe('how the signature is written: `hex`, `base64` or `base64url`'),
    prefix: z.string().max(64).describe('stands before each signature, such as `sha256=`'),
    separator: z
      .enum(['', ',', ';', ' '])
      .describe('`,`, `;` or a space between several parts of the header; `""`: one signature alone'),
    signed: z
      .string()
      .max(500)
      .refine((text) => TEMPLATE.test(text) && text.includes('{body}'), {
        error: 'must hold {body}, and beside text only {timestamp}, {url} and {header:NAME}',
      })
      .describe(
        'template of what is signed: `{body}`, `{timestamp}`, `{url}` (the registered address) and `{header:NAME}` stand for what was received',
      ),
    timestamp: z
      .string()
      .regex(TIMESTAMP, { error: 'must be "header:NAME" or "part:PREFIX", such as "part:t="' })
      .nullable()
      .describe(
        'where the time of signing stands: `header:NAME`, or `part:PREFIX` for a part of the signature header; `null`: nowhere',
      ),
    toleranceSeconds: z
      .number()
      .int()
      .min(1)
      .max(86_400)
      .describe('a delivery whose timestamp is further away is refused'),
    secret: z
      .strictObject({
        prefix: z.string().max(64).describe('taken off the secret before it is used, such as `whsec_`'),
        encoding: z.enum(['text', 'base64', 'base64url', 'hex']).describe('`text`, `base64`, `base64url` or `hex`'),
      })
      .describe('how the secret is written'),
  })
  .describe('how deliveries prove where they come from');
