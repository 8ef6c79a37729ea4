import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AnnouncedReport } from '../../../../activities/deps.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { createReportHook } from '../../../../src/app/reports/report-hook.ts';

const REPORT: AnnouncedReport = {
  kind: 'batch',
  id: 'batch-x',
  state: 'finished',
  html: '/reports/a name; touch /tmp/never $(id)/report.html',
  json: '/reports/report.json',
};

async function program(body: string): Promise<{ command: string[]; out: string }> {
  const directory = await temporaryDirectory();
  const out = join(directory, 'out.json');
  const script = join(directory, 'hook.mjs');
  await writeFile(script, `const out = ${JSON.stringify(out)};\n${body}`);
  return { command: [process.execPath, script, '--to', 'office'], out };
}

function warnings() {
  const seen: { message: string; fields: Record<string, unknown> }[] = [];
  const log = { warn: (message: string, fields = {}): void => void seen.push({ message, fields }) };
  return { seen, log };
}

const TELL = `import { writeFileSync } from 'node:fs';
writeFileSync(out, JSON.stringify({ parameters: process.argv.slice(2), env: process.env }));`;

describe('the command that is told of a report', () => {
  it('gets the path as one argument, whatever characters it has, and nothing of it is run', async () => {
    const { command, out } = await program(TELL);
    const { seen, log } = warnings();

    await createReportHook({ command, env: process.env, log })(REPORT);

    const { parameters } = JSON.parse(await readFile(out, 'utf8')) as { parameters: string[] };
    expect(parameters).toEqual(['--to', 'office', REPORT.html]);
    expect(seen).toEqual([]);
  });

  it('gets the report in LOTE_REPORT_* and none of Lote’s secrets', async () => {
    const { command, out } = await program(TELL);
    const secrets = { INVOICING_API_KEY: 'sk_secret', DATABASE_URL: 'postgres://' };
    const env = { PATH: process.env['PATH'], HOME: '/home/x', ...secrets };

    await createReportHook({ command, env, log: warnings().log })(REPORT);

    const notified = (JSON.parse(await readFile(out, 'utf8')) as { env: Record<string, string> }).env;
    expect(notified).toMatchObject({
      HOME: '/home/x',
      LOTE_REPORT_KIND: 'batch',
      LOTE_REPORT_ID: 'batch-x',
      LOTE_REPORT_STATE: 'finished',
      LOTE_REPORT_HTML: REPORT.html,
      LOTE_REPORT_JSON: REPORT.json,
    });
    expect(Object.keys(notified).filter((name) => /KEY|DATABASE/u.test(name))).toEqual([]);
  });

  it.each([
    ['ends with a code', 'process.exit(7);', 'exit code 7'],
    ['does not end in time', 'setInterval(() => out, 1000);', 'ended by SIGKILL'],
  ])('is only logged when it %s', async (_, body, failure) => {
    const { command } = await program(body);
    const { seen, log } = warnings();

    await createReportHook({ command, env: process.env, log, timeoutMs: 2_000 })(REPORT);

    expect(seen).toHaveLength(1);
    expect(seen[0]?.fields['failure']).toContain(failure);
  });
});
