import type { MisfitNotes } from './misfit-notes.ts';

const NOT_ITS_OWN = 'event-id-not-its-own';
/** Events whose id is no id of theirs, and none before that had one. */
const ENOUGH = 3;

/** Whether the profile finds the ids of events. */
export interface EventIds {
  note(serviceId: string, eventId: string | null): void;
}

/** Lote does not count on ids of events, but people who look for an event by its id at the service would find nothing. */
export function createEventIds(notes: MisfitNotes): EventIds {
  const invoiceOf = new Map<string, string>();
  let wrong = 0;
  let isDone = false;
  return {
    note(serviceId, eventId) {
      if (isDone || eventId === null) return;
      const other = invoiceOf.get(eventId) ?? serviceId;
      invoiceOf.set(eventId, other);
      if (eventId === serviceId || other !== serviceId) wrong += 1;
      // The first of an id that is the same for all looks right.
      else if (invoiceOf.size > 1) isDone = true;
      if (wrong < ENOUGH) return;
      isDone = true;
      invoiceOf.clear();
      const message =
        'The value at event.eventId is not the id of the event: it is the id of the invoice, or the same for several events. No invoice is affected, but such events cannot be looked up at the service. Correct event.eventId in the service profile.';
      notes.note(NOT_ITS_OWN, message);
    },
  };
}
