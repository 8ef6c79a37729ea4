import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { NightMessageNote } from '../../../src/domain/ports/run-log.ts';
import type { NightlyResult } from '../../../workflows/nightly-issuance.ts';
import { FAILING_TAX_CODE, testInvoices } from '../../support/files/batch-file.ts';
import { replay } from '../../support/lote/replay.ts';
import { withStack, type StackOptions, type TestStack } from '../../support/lote/stack.ts';
import { mailServer, smtpError } from '../../support/servers/mail-server.ts';
import { until } from '../../support/until.ts';

const QUICK = { LOTE_DROP_STABLE_FOR: '5ms', LOTE_DROP_PATIENCE: '50ms' };
const SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;

function mailing(port: number, over: Readonly<Record<string, string>> = {}): StackOptions {
  return {
    env: {
      ...QUICK,
      ...{ LOTE_SMTP_URL: `smtp://127.0.0.1:${port}`, LOTE_SMTP_TLS: 'none', LOTE_MAIL_FROM: 'lote@lote.example' },
      ...{ LOTE_MAIL_TO: 'back@office.example', LOTE_LANGUAGE: 'pt-PT', ...over },
    },
  };
}

async function runNightly({ client, config }: TestStack): Promise<NightlyResult> {
  const handle = await client.workflow.start('nightlyIssuance', {
    ...{ workflowId: `night-${config.application}`, taskQueue: config.taskQueue, args: [{ timezone: 'UTC' }] },
  });
  return handle.result() as Promise<NightlyResult>;
}

async function notesOf(night: NightlyResult): Promise<readonly NightMessageNote[]> {
  const { runs } = JSON.parse(await readFile(night.reports.json, 'utf8')) as {
    runs: { messages: NightMessageNote[] }[];
  };
  return runs.at(-1)?.messages ?? [];
}

/** Resolves with the notes of the night when each of them is in this state. */
async function untilAll(night: NightlyResult, state: NightMessageNote['state']) {
  await until(async () => {
    const notes = await notesOf(night);
    return notes.length > 0 && notes.every((note) => note.state === state);
  });
  return notesOf(night);
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

describe('the message of a night', { timeout: 180_000 }, () => {
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
      const [unsent] = await untilAll(night, 'unsent');
      expect(unsent).toMatchObject({ channel: 'email', detail: expect.stringContaining('451') as string });
      busy = false;
      await untilAll(night, 'sent');

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
      const notes = await untilAll(night, 'refused');

      expect(notes).toMatchObject([{ detail: expect.stringContaining('550 at RCPT TO') as string }]);
      expect(JSON.stringify(notes)).not.toContain('office.example');
      const message = `night-${stack.config.application}-${night.night}-message`;
      await stack.client.workflow.getHandle(message).result();
      expect(server.taken).toEqual([]);
    });
  });

  it('that could not be sent in all its time stands on the page of its night as not tried any more', async () => {
    let tries = 0;
    // Busy at first; then it does not answer, so that the last try is under way when its time is over.
    const hook = createServer((request, response) => {
      tries += 1;
      if (tries === 1) response.writeHead(503).end();
      else request.resume();
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      hook.closeAllConnections();
      hook.close();
    });
    const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`;
    await withStack({ env: { ...QUICK, LOTE_MESSAGE_URL: url, LOTE_MESSAGE_SECRET: SECRET } }, async (stack) => {
      const night = await runNightly(stack);
      await untilAll(night, 'unsent');
      await until(() => tries === 2);
      const workflowId = `night-${stack.config.application}-${night.night}-message`;

      await endTries(stack, workflowId);
      await stack.client.workflow.getHandle(workflowId).result();

      expect(await notesOf(night)).toMatchObject([
        {
          ...{ channel: 'webhook', state: 'refused' },
          detail: expect.stringMatching(
            /503.*\. The last try ended without an answer: it may have been sent\.$/u,
          ) as string,
        },
      ]);
      await replay(stack, workflowId);
    });
  });

  it('goes by a signed webhook too, where one is set, with a login from a file for the mail', async () => {
    const got: { body: string; headers: Record<string, string> }[] = [];
    const hook = createServer((request, response) => {
      void text(request).then((body) => {
        got.push({ body, headers: request.headers as Record<string, string> });
        response.end();
      });
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void hook.close());
    const server = await mailServer({ hideSTARTTLS: true, allowInsecureAuth: true });
    const directory = await mkdtemp(join(tmpdir(), 'lote-mail-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const file = join(directory, 'password');
    await writeFile(file, 'pass word\n');
    const env = {
      ...{ LOTE_SMTP_USER: 'ana', LOTE_SMTP_PASSWORD_FILE: file, LOTE_MESSAGE_SECRET: SECRET },
      LOTE_MESSAGE_URL: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`,
    };
    await withStack(mailing(server.port, env), async (stack) => {
      await stack.drop('good.csv', testInvoices(2));
      const night = await runNightly(stack);
      await until(async () => (await notesOf(night)).length === 2);
      await untilAll(night, 'sent');

      expect(server.taken).toMatchObject([{ user: 'ana', to: ['back@office.example'] }]);
      const [{ body, headers } = { body: '', headers: {} }] = got;
      expect(new Webhook(SECRET).verify(body, headers)).toMatchObject({
        type: 'night.finished',
        data: { night: night.night, invoices: 2, issued: 2, files: [{ name: 'good.csv', verdict: 'issued' }] },
      });
      expect(got).toHaveLength(1);
    });
  });
});
