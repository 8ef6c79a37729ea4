import type { CreateAnswer } from '../../src/domain/ports/invoicing-service.ts';

/** Invoices whose refusal cannot be read: after so many it is the profile. */
const MOST_UNREAD = 5;

/** Refusals that the profile cannot read while the service creates other invoices. */
export interface UnreadRefusals {
  /** Notes an answer to a key; a message when nothing more may be sent, else null. */
  note(answer: CreateAnswer, key: string): string | null;
}

/**
 * A profile that looks for errors at the wrong place makes every refused invoice unknown. A gateway answers with 4xx too when the service behind it is away; but
 * then it answers so to all. So a refusal counts only when another invoice was created since the last one that counted; a single one that is read proves the place.
 */
export function createUnreadRefusals(onFound: (message: string) => void): UnreadRefusals {
  const keys = new Set<string>();
  let isProved = false;
  let isCreatedSince = false;

  return {
    note(answer, key) {
      if (answer.kind === 'created') isCreatedSince = true;
      if (answer.kind === 'refused' || answer.kind === 'key-mismatch') isProved = true;
      if (isProved || answer.kind !== 'lost' || answer.unreadError !== true) return null;
      if (!isCreatedSince || keys.has(key)) return null;
      isCreatedSince = false;
      keys.add(key);
      const said = answer.reason.message;
      onFound(said);
      if (keys.size < MOST_UNREAD) return null;
      // The probe decides: an invoice that is created shows that somebody else has spoken.
      keys.clear();
      return `The service profile cannot read the refusals of the service: ${MOST_UNREAD} invoices got one while others were created (the last: ${said}). Correct error.code and error.message in the file named by SERVICE_PROFILE and start Lote again: it then repeats what was sent, under the same key.`;
    },
  };
}
