import { answerExpressions, invoiceShape, merchantShape } from '../../../service/answer-shapes.ts';
import { documentOf, type ExchangeResult } from '../../../service/exchange-result.ts';
import { pageReader } from '../../../service/merchants/merchant-page.ts';
import { look } from '../../../service/seen-answer.ts';
import { readPlace, type Place } from '../../../service-profile/place.ts';
import type { ServiceProfile } from '../../../service-profile/profile.ts';
import { wordAt } from '../../../service-profile/word.ts';
import { createEventReader } from '../../../webhooks/event-reader.ts';
import type { ExchangeRecording } from '../recording.ts';

/** What the profile reads in one record: what stays readable, and what must not. */
export interface WhatIsRead {
  readonly ids: readonly string[];
  readonly words: readonly string[];
  readonly taxNumbers: readonly string[];
}

/** Finds what a profile reads; a profile that does not fit finds nothing, or the wrong thing, and so what it finds decides alone about no private value. */
export interface ProfileEyes {
  answer(operation: ExchangeRecording['operation'], end: ExchangeResult): Promise<WhatIsRead>;
  delivery(raw: Uint8Array, rawHeaders: readonly string[]): Promise<WhatIsRead>;
}

const NOTHING: WhatIsRead = { ids: [], words: [], taxNumbers: [] };

/** Compiles the expressions of the profile once. */
export function createProfileEyes(profile: ServiceProfile): ProfileEyes {
  const evaluate = answerExpressions(profile);
  const readPage = pageReader(profile);
  const { event, signature, invoice, error, answers } = profile;
  const readEvents = createEventReader({ event, signature, idPrefix: invoice.idPrefix });
  const wordPlaces: readonly (Place | null)[] = [
    ...[invoice.status, invoice.reasonCode, error.code, answers.status, answers.success?.at ?? null],
  ];
  const shapes = { invoice: invoiceShape(profile), merchant: merchantShape(profile) };

  return {
    async answer(operation, end) {
      if (operation === null || operation === 'register-webhook' || end.kind !== 'answer') return NOTHING;
      if (operation === 'list-merchants') {
        const page = await readPage(end);
        if ('kind' in page) return NOTHING;
        const { merchants } = page;
        return {
          ids: merchants.map(({ merchantId }) => merchantId),
          ...{ words: [], taxNumbers: merchants.map(({ nif }) => nif) },
        };
      }
      const read = evaluate === null ? end : await evaluate(end);
      const seen = look(read, operation === 'create-merchant' ? shapes.merchant : shapes.invoice);
      const document = documentOf(read);
      return {
        ids: present([seen.serviceId, seen.existingId]),
        words: present(wordPlaces.map((place) => (place === null ? null : wordAt(readPlace(document, place))))),
        taxNumbers: [],
      };
    },
    async delivery(raw, rawHeaders) {
      const rows = await readEvents({ raw, rawHeaders, receivedAt: 0 });
      const events = rows.flatMap(({ event: one }) => (one === null ? [] : [one]));
      return {
        ids: present(events.flatMap(({ serviceId, eventId }) => [serviceId, eventId])),
        words: present(events.flatMap(({ type, reason }) => [type, reason?.code ?? null])),
        taxNumbers: [],
      };
    },
  };
}

function present(values: readonly (string | null)[]): readonly string[] {
  return values.filter((value) => value !== null);
}
