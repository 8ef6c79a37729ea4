import type { AnswerBody, ExchangeResult } from '../../service/exchange-result.ts';
import { retryAfterMs } from '../../service/limits/retry-after.ts';
import type { ExchangeRecording, RecordedBody } from '../recordings/recording.ts';

type Answer = Extract<ExchangeResult, { kind: 'answer' }>;

/** A recorded answer as the client of the service ends an exchange. */
export function recordedEnd({ at, answer }: ExchangeRecording): Answer {
  const headers = headersOf(answer.headers);
  const pause = headers['retry-after'];
  return {
    kind: 'answer',
    status: answer.status,
    retryAfterMs: retryAfterMs(typeof pause === 'string' ? pause : pause?.[0], at),
    body: answerBody(answer.body),
    headers,
  };
}

function answerBody(body: RecordedBody): AnswerBody {
  if (body.kind === 'json') return { kind: 'json', value: body.value };
  if (body.kind === 'text') return { kind: 'unreadable', why: 'not-json', text: body.text };
  return { kind: 'unreadable', why: body.why };
}

function headersOf(lines: readonly string[]): Record<string, string | readonly string[]> {
  const headers = new Map<string, string | readonly string[]>();
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const name = lines[index]?.toLowerCase() ?? '';
    const value = lines[index + 1] ?? '';
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(headers);
}
