import { jsonAnswer } from '../http/answer.ts';
import type { Answer } from '../http/answer.ts';
import type { MerchantRecord } from '../records.ts';
import { isoTime, withBody } from './invoice-answer.ts';

/** One merchant as an answer. */
export function merchantAnswer(status: number, merchant: MerchantRecord): Answer {
  return jsonAnswer(status, merchantJson(merchant));
}

/** One merchant as JSON text. */
export function merchantJson({ id, createdAt, body }: MerchantRecord): string {
  return withBody({ id, created_at: isoTime(createdAt) }, body);
}
