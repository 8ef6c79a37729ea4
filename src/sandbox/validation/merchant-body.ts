import { object, pattern, readAs, text } from './field.ts';
import type { Read } from './field.ts';

/** The published fields of a merchant. */
export interface MerchantBody {
  readonly legal_name: string;
  readonly nif: string;
  readonly email: string;
}

const check = object({
  legal_name: text({ max: 500 }),
  nif: pattern(/^[0-9]{1,20}$/, '1 to 20 digits'),
  email: pattern(/^[^\s@]{1,64}@[^\s@]{1,255}$/, 'an e-mail address'),
});

/** The request as a type, or the first problem of it. */
export function readMerchantBody(value: unknown): Read<MerchantBody> {
  return readAs<MerchantBody>(value, check);
}
