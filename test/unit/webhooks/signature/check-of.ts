import { DEFAULT_PROFILE } from '../../../../src/service/profile/default-profile.ts';
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
  readonly url?: string | null;
}

/** What a real check says of the delivery, whole and before the body. */
export function checked(given: Checked) {
  const shape = { ...SHAPE, ...given.shape };
  const check = createSignatureCheck(shape, () => (given.url === undefined ? URL_SIGNED : given.url));
  const head = {
    rawHeaders: [...(given.lines ?? []).flatMap((line) => [shape.header, line]), ...(given.headers ?? []).flat()],
    now: given.now ?? 0,
  };
  const raw = Buffer.from(given.raw ?? '');
  return { whole: check.verify(head, given.secrets, raw), head: check.verifyHead(head, given.secrets) };
}
