import type { InvoicingService } from '../../../../src/service/client.ts';
import type { MerchantListAnswer } from '../../../../src/domain/records/service-answers.ts';

export const LIST: MerchantListAnswer = { kind: 'list', merchants: [] };

export function unreadable(code: string): MerchantListAnswer {
  return { kind: 'unreadable', reason: { code, message: 'GET /v1/merchants: connect ECONNREFUSED' } };
}

/** Gives these answers in turn, the last one for ever. */
export function serviceOf(...answers: readonly MerchantListAnswer[]) {
  let asked = 0;
  const listMerchants = (): Promise<MerchantListAnswer> => {
    asked += 1;
    return Promise.resolve(answers[Math.min(asked, answers.length) - 1] ?? LIST);
  };
  return { service: { listMerchants } as InvoicingService, asked: () => asked };
}
