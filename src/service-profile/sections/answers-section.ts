import { z } from 'zod';
import { optionalPlace, place, words } from './section-types.ts';

/** What an answer that is no plain success means. */
const MEANINGS = ['refused', 'later', 'access', 'mismatch', 'exists', 'lost'] as const;

const status = z.number().int().min(200).max(599);

const Rule = z
  .strictObject({
    status: z.array(status).min(1).optional().describe('one of these statuses; left out: any'),
    code: words.min(1).optional().describe('one of these words stands at `error.code`; left out: any'),
    has: place.optional().describe('something stands at this place; left out: nothing is asked'),
    means: z
      .enum(MEANINGS)
      .describe(
        '`refused` (for good, and nothing was created), `later` (not now, and nothing was created), `access` (the service lets nobody in), `mismatch` (the key is known with other bytes), `exists` (this key has created it before, and the answer carries it) or `lost` (nobody knows)',
      ),
    id: place.optional().describe('with `exists`: place of the id; left out: that of a creation'),
  })
  .check((context) => {
    const { status: statuses, code, has, means, id } = context.value;
    const say = (message: string): void => void context.issues.push({ code: 'custom', input: context.value, message });
    if (statuses === undefined && code === undefined && has === undefined)
      say('must ask for a status, a code or a place');
    if (means === 'refused' && statuses?.some((one) => one >= 500) === true)
      say('must not call a status from 500 on a refusal: it proves nothing');
    if (id !== undefined && means !== 'exists') say('may hold an id only where it means exists');
  });

/** Which answers mean what, where the status alone does not say it. */
export const AnswersSection = z
  .strictObject({
    success: z
      .strictObject({ at: place.describe('place of the word'), is: words.min(1).describe('the words') })
      .nullable()
      .describe('a 2xx is a success only if one of these words stands there; `null`: every 2xx is'),
    status: optionalPlace.describe(
      'place at which an envelope says the status that counts, instead of the HTTP status of an answer that is no success',
    ),
    rules: z.array(Rule).max(100).describe('rules for answers, read in order; the first that fits decides'),
  })
  .describe('which answers mean what, where the status alone does not say it');
