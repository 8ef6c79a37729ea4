import { describe, expect, it } from 'vitest';
import type { NightlyResult } from '../../../workflows/nightly-issuance.ts';
import { FAILING_TAX_CODE, testInvoices } from '../../support/files/batch-file.ts';
import type { StackOptions } from '../../support/lote/stack-parts.ts';
import { replay, withStack, type TestStack, startNight, nightOf } from '../../support/lote/stack.ts';
import { mailServer, smtpError } from '../../support/servers/mail-server.ts';
import { until } from '../../support/until.ts';
import type { NightMessageNote } from '../../../src/domain/records/night.ts';

const QUICK = { LOTE_DROP_STABLE_FOR: '5ms' };

function mailing(port: number, over: Readonly<Record<string, string>> = {}): StackOptions {
  return {
    env: {
      ...QUICK,
      ...{ LOTE_SMTP_URL: `smtp://127.0.0.1:${port}`, LOTE_MAIL_FROM: 'lote@lote.example' },
      ...{ LOTE_MAIL_TO: 'back@office.example', LOTE_LANGUAGE: 'pt-PT', ...over },
    },
  };
}

async function runNightly(stack: TestStack): Promise<NightlyResult> {
  return (await startNight(stack, `night-${stack.config.application}`)).result();
}

async function noteOf(night: NightlyResult): Promise<NightMessageNote | null> {
  return (await nightOf(night)).runs.at(-1)?.message ?? null;
}

/** Resolves with the note of the night when it has this state. */
async function untilNoted(night: NightlyResult, state: NightMessageNote['state']) {
  await until(async () => (await noteOf(night))?.state === state);
  return noteOf(night);
}

/** Ends the activity of a message for good, as the end of its twelve hours does. */
async function endTries({ client, config }: TestStack, workflowId: string): Promise<void> {
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  const [pending] = raw.pendingActivities ?? [];
  await client.workflowService.respondActivityTaskFailedById({
    ...{ namespace: config.temporal.namespace, workflowId, activityId: pending?.activityId ?? '' },
    failure: { message: 'test', applicationFailureInfo: { type: 'test', nonRetryable: true } },
  });
}

/** The text of a quoted-printable source. */
function decoded(source: string): string {
  const bytes = source
    .replaceAll('=\r\n', '')
    .replace(/=([0-9A-F]{2})/gu, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

describe('the message of a night', () => {
  it('comes once, in the language of LOTE_LANGUAGE, after a server that was busy at first; the night does not wait', async () => {
    let busy = true;
    const server = await mailServer({
      hideSTARTTLS: true,
      onMailFrom: (_address, _session, done) => done(busy ? smtpError(451, 'Later, back@office.example') : null),
    });
    await withStack(mailing(server.port), async (stack) => {
      await stack.drop('good.csv', testInvoices(3));
      await stack.drop('mixed.csv', [{ ref: 'M-1' }, { ref: 'M-2', taxCode: FAILING_TAX_CODE }]);

      const night = await runNightly(stack);
      expect(night).toMatchObject({ files: 2, problems: 1 });
      const unsent = await untilNoted(night, 'unsent');
      expect(unsent).toMatchObject({ detail: expect.stringContaining('451') as string });
      busy = false;
      await untilNoted(night, 'sent');

      expect(server.taken).toHaveLength(1);
      const source = server.taken[0]?.source ?? '';
      expect(source).toContain(`Message-ID: <night-${stack.config.application}-${night.night}-email@lote.example>`);
      const plain = decoded(source);
      expect(plain).toContain('4 de 5 faturas foram emitidas.');
      expect(plain).toContain('- mixed.csv: 1 de 2 faturas está sem emissão confirmada.');
      // What the night knows of people stays out: names, tax numbers, references, addresses.
      expect(source).not.toMatch(/Cliente|Comerciante|501964843|M-2/u);
      expect(stack.log.join('')).not.toContain('office.example');
    });
  });

  it('that the server refuses fails no night, is not tried again, and stands on the page of the night', async () => {
    const server = await mailServer({
      hideSTARTTLS: true,
      onRcptTo: (_address, _session, done) => done(smtpError(550, 'No back@office.example here')),
    });
    await withStack(mailing(server.port), async (stack) => {
      const night = await runNightly(stack);
      const note = await untilNoted(night, 'refused');

      expect(note).toMatchObject({ detail: expect.stringContaining('550 at RCPT TO') as string });
      expect(JSON.stringify(note)).not.toContain('office.example');
      const message = `night-${stack.config.application}-${night.night}-message`;
      await stack.client.workflow.getHandle(message).result();
      expect(server.taken).toEqual([]);
    });
  });

  it('that could not be sent in all its time stands on the page of its night as not tried any more', async () => {
    let tries = 0;
    // Busy at first; then it does not answer, so that the last try is under way when its time is over.
    const server = await mailServer({
      hideSTARTTLS: true,
      onMailFrom(_address, _session, done) {
        tries += 1;
        if (tries === 1) done(smtpError(451, 'Later'));
      },
    });
    await withStack(mailing(server.port), async (stack) => {
      const night = await runNightly(stack);
      await untilNoted(night, 'unsent');
      await until(() => tries === 2);
      const workflowId = `night-${stack.config.application}-${night.night}-message`;

      await endTries(stack, workflowId);
      await stack.client.workflow.getHandle(workflowId).result();

      const unanswered = /451.*\. The last try ended without an answer: it may have been sent\.$/u;
      expect(await noteOf(night)).toMatchObject({
        ...{ state: 'refused', detail: expect.stringMatching(unanswered) as string },
      });
      await replay(stack, workflowId);
    });
  });
});
