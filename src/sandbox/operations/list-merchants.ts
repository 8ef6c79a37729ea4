import { errorAnswer, jsonAnswer } from '../http/answer.ts';
import type { Answer } from '../http/answer.ts';
import { merchantJson } from './merchant-answer.ts';
import type { Call, Services } from './operation.ts';

/** Merchants in one answer, at most and by default. */
const PAGE_SIZE = 100;

/** GET /v1/merchants */
export async function listMerchants({ context }: Services, { application, query }: Call): Promise<Answer> {
  await context.latency();
  if (context.chance.decideAgain('listFailure', application.id)) {
    return errorAnswer(500, 'internal_error', 'The list could not be read.');
  }
  const limit = limitOf(query.get('limit'));
  if (limit === null) return errorAnswer(400, 'query_invalid', `expected 1 to ${PAGE_SIZE}.`, { field: 'limit' });
  const from = positionOf(query.get('cursor'));
  if (from === null) {
    return errorAnswer(400, 'query_invalid', 'expected a next_cursor of this list.', { field: 'cursor' });
  }
  const start = application.merchantOrder.findIndex(({ position }) => position >= from);
  const page = start === -1 ? [] : application.merchantOrder.slice(start, start + limit);
  const last = page.at(-1);
  const more = last !== undefined && start + limit < application.merchantOrder.length;
  const cursor = more ? cursorOf(last.position + 1) : null;
  return jsonAnswer(200, `{"data":[${page.map(merchantJson).join(',')}],"next_cursor":${JSON.stringify(cursor)}}`);
}

function limitOf(text: string | null): number | null {
  if (text === null) return PAGE_SIZE;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= PAGE_SIZE ? limit : null;
}

// Opaque to the client, so that it can mean something else one day.
function cursorOf(position: number): string {
  return Buffer.from(`after ${position}`).toString('base64url');
}

function positionOf(cursor: string | null): number | null {
  if (cursor === null) return 0;
  const match = /^after (\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString());
  return match === null ? null : Number(match[1]);
}
