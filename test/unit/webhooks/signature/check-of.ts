import { DEFAULT_PROFILE } from '../../../../src/service/profile/profile.ts';
import { createSignatureCheck, type SignatureShape } from '../../../../src/webhooks/signature-check.ts';

/** The default profile's signatures. */
export const SHAPE: SignatureShape = DEFAULT_PROFILE.signature;

/** The registered address of the tests. */
const URL_SIGNED = 'https://lote.example/hook?a=1';

/** A delivery to be checked; what is left out is as in the default profile, or absent. */
export interface Checked {
  readonly shape?: Partial<SignatureShape>;
  readonly secrets: readonly string[];
  /** Lines of the signature header. */
  readonly lines?: readonly string[];
  /** Other header lines: name, value. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly raw?: string | Uint8Array;
  readonly now?: number;
  readonly url?: string;
}

/** What a real check says of the delivery. */
export function checked({ secrets, raw = '', now = 0, url = URL_SIGNED, lines = [], headers = [], ...given }: Checked) {
  const shape = { ...SHAPE, ...given.shape };
  const rawHeaders = [...lines.flatMap((line) => [shape.header, line]), ...headers.flat()];
  return createSignatureCheck(shape, () => url)({ rawHeaders, now, bodies: [Buffer.from(raw)] }, secrets);
}
