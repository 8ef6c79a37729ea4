import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import type { ActivityDeps } from '../../../../activities/deps.ts';
import { sendNightMessage } from '../../../../activities/nightly/nightly.ts';
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
});
