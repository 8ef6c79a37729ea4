import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import type { ActivityDeps } from '../../../../activities/deps.ts';
import { closeNightMessage, sendNightMessage } from '../../../../activities/nightly/nightly.ts';
import { LoteError } from '../../../../src/domain/errors.ts';
import { createRunLog } from '../../../../src/nightly/run-log.ts';

const NIGHT = { nightId: '2026-11-23-1a2b3c4d', date: '2026-11-23', workflowId: 'w', runId: 'r', startedAt: 0 };
const INPUT = { ledgerId: 'l', night: NIGHT };

async function placeOf(answers: readonly (string | null | Error)[]) {
  const nights = createRunLog(await temporaryDirectory());
  await nights.finish(NIGHT, { waiting: [], finishedAt: 1 });
  let sent = 0;
  const send = async (): Promise<string | null> => {
    const answer = answers[sent] ?? null;
    sent += 1;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const deps = { nights, messages: { send }, now: () => 7 } as unknown as ActivityDeps;
  return { nights, deps, sent: () => sent };
}

describe('sending the message of a night', () => {
  it('is not done again once the run log says that it was sent, with what was wrong although it was', async () => {
    const { deps, nights, sent } = await placeOf(['1 of 2 addresses were refused']);
    await sendNightMessage(deps, INPUT);
    await sendNightMessage(deps, INPUT);

    expect(sent()).toBe(1);
    expect((await nights.run(NIGHT))?.message).toEqual({
      ...{ state: 'sent', at: 7, detail: '1 of 2 addresses were refused' },
    });
  });

  it('does not fail when the message was sent and cannot be noted: it would be sent again', async () => {
    const { deps, nights, sent } = await placeOf([null]);
    const warned: string[] = [];
    await sendNightMessage(
      {
        ...deps,
        nights: { ...nights, noteMessage: () => Promise.reject(new LoteError('folder-unusable', 'full')) },
        log: { ...deps.log, warn: (message) => void warned.push(message) },
      },
      INPUT,
    );

    expect(sent()).toBe(1);
    expect(warned).toHaveLength(1);
  });

  it('is over after the last try: the run log says so, with why the last try failed, and of that night alone', async () => {
    const { deps, nights } = await placeOf([new LoteError('message-unsent', 'found 451')]);
    const next = { ...NIGHT, nightId: '2026-11-24-5e6f7a8b', date: '2026-11-24' };
    await nights.finish(next, { waiting: [], finishedAt: 2 });
    await expect(sendNightMessage(deps, INPUT)).rejects.toMatchObject({ code: 'message-unsent' });
    await sendNightMessage(deps, { ...INPUT, night: next });

    await closeNightMessage({ ...deps, now: () => 9 }, { ...INPUT, isUnanswered: false });
    await closeNightMessage(deps, { ...INPUT, night: next, isUnanswered: false });

    expect((await nights.run(NIGHT))?.message).toEqual({ state: 'refused', at: 9, detail: 'found 451' });
    expect((await nights.run(next))?.message).toMatchObject({ state: 'sent', detail: null });
  });

  it.each([
    [
      'of which an earlier try says why it failed',
      new LoteError('message-unsent', 'Found 503.'),
      'Found 503. The last try ended without an answer: it may have been sent.',
    ],
    ['of which no try says anything', null, 'The last try ended without an answer: it may have been sent.'],
  ])('says that it may have been sent, of one %s, when the last try has no answer', async (_, earlier, detail) => {
    const { deps, nights } = await placeOf([earlier]);
    if (earlier !== null) await expect(sendNightMessage(deps, INPUT)).rejects.toMatchObject({ code: 'message-unsent' });

    await closeNightMessage(deps, { ...INPUT, isUnanswered: true });

    expect((await nights.run(NIGHT))?.message).toEqual({ state: 'refused', at: 7, detail });
  });

  it('takes no message for a dropped file of the night', async () => {
    const { deps, nights } = await placeOf([null]);
    await sendNightMessage(deps, INPUT);

    expect((await nights.run(NIGHT))?.files).toEqual([]);
  });
});
