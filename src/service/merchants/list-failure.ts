import type { MerchantListAnswer } from '../../domain/ports/invoicing-service.ts';

/** A list that was not read whole, and why. */
export type Unreadable = Extract<MerchantListAnswer, { kind: 'unreadable' }>;

/** The service answered, and what it answered is no whole list. */
export function unreadable(why: string): Unreadable {
  return failed('service-list-unreadable', why);
}

/** The list was not read for one of the reasons that operators are told apart. */
export function failed(
  code: 'service-unreachable' | 'service-unauthorized' | 'service-list-unreadable',
  why: string,
): Unreadable {
  return { kind: 'unreadable', reason: { code, message: `Reading the list of merchants: ${why}` } };
}
