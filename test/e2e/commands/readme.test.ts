import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanCheckout, trackedFiles, type CleanCheckout } from '../../support/lote/clean-checkout.ts';
import { namedCommands, README, shellBlocks, USER_PAGES } from '../../support/lote/readme.ts';
import { readJson, type CommandReport } from '../../support/lote/running-lote.ts';
import { untilOr } from '../../support/until.ts';
import { runLote, type RunningCommand, startCommand } from '../../support/lote/lote-command.ts';

/** Every block of README.md, and how it is run here; a block that is not in this list fails the test. */
const BLOCKS = {
  demo: 'npm ci && npm run demo',
  test: 'npm ci && npm test',
  start: 'npm start',
  daily: 'npx lote check input/sample.csv\nnpx lote run input/sample.csv\nnpx lote status',
} as const;

/** `npm ci` itself is what CI has done before any test runs; the packages it installed are linked. */
const AFTER_INSTALL = /^npm ci && /u;
/** All tests within a test would never end: of `npm test`, one file that needs every server which the suite starts for itself. */
const ONE_TEST_FILE = 'test/unit/domain/time/poll-times.test.ts';

const tracked = trackedFiles();
if (tracked === null)
  console.warn(
    '\n!!! NEWCOMER TEST LEFT OUT: this checkout is no git repository, so nobody knows what a fresh one holds.\n',
  );

describe.skipIf(tracked === null)('a newcomer with README.md in a clean directory', () => {
  let checkout: CleanCheckout;
  const started: RunningCommand[] = [];

  beforeAll(async () => {
    checkout = await cleanCheckout(tracked ?? []);
  });

  afterAll(async () => {
    for (const command of started) command.killGroup();
    await Promise.all(started.map(({ end }) => end));
    await checkout?.remove();
  });

  /** Each place of its own: a data directory and ports that nothing else on this machine has. */
  function env(place: string): Readonly<Record<string, string>> {
    const data = { LOTE_DATA_DIR: join(checkout.directory, `.lote-${place}`), LOTE_REPORTS_DIR: `reports-${place}` };
    return { ...data, CONSOLE_PORT: '0', RECEIVER_PORT: '0', SANDBOX_PORT: '0', NO_COLOR: '1' };
  }

  /** As somebody types it in a terminal: what it starts is in one process group, and Ctrl-C goes to all of it. */
  function type(line: string, place: string): RunningCommand {
    const system = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
    const command = startCommand(['sh', '-c', line], {
      ...{ directory: checkout.directory, env: { ...system, ...env(place) } },
    });
    started.push(command);
    return command;
  }

  async function run(line: string, place: string): Promise<{ readonly code: number | null; readonly output: string }> {
    const { code, stdout, stderr } = await type(line, place).end;
    return { code, output: stdout + stderr };
  }

  it('finds two commands first, and no block that is not run here', () => {
    expect(shellBlocks(README)).toEqual(Object.values(BLOCKS));
  });

  // From the sources, as where nothing can be built; all that follows runs from a build.
  it('runs the demo: the sample goes from file to report, and the report is where the demo says', async () => {
    const { code, output } = await run(BLOCKS.demo.replace(AFTER_INSTALL, ''), 'demo');

    expect(output).toContain('The demo did what it should');
    expect(code).toBe(0);
    expect(output).toMatch(/invoices +200/u);
    const html = /^Report +(\S+report\.html)$/mu.exec(output)?.[1] ?? 'no report';
    const report = await readJson<CommandReport>(html.replace(/html$/u, 'json'));
    expect(new Set(report.invoices.map(({ merchantNif }) => merchantNif)).size).toBe(5);
    expect(report.counts['invalid']).toBeGreaterThan(0);
    expect(report.counts['failed']).toBeGreaterThan(0);
    expect(await readFile(html, 'utf8')).toContain('sample.csv');
  });

  it('runs the tests: with every server that they need, without anything set', async () => {
    const { code, output } = await run(`${BLOCKS.test.replace(AFTER_INSTALL, '')} -- ${ONE_TEST_FILE}`, 'test');

    expect(output).toMatch(/Test Files\s+1 passed/u);
    expect(code).toBe(0);
  });

  it('keeps everything up, works with it from a second terminal, and ends it with Ctrl-C', async () => {
    await checkout.addBuild();
    const up = type(BLOCKS.start, 'start');
    const address = async (name: string): Promise<string> => {
      const line = new RegExp(`^${name} +(http://\\S+)$`, 'mu');
      await untilOr(up.end, () => line.test(up.output()));
      return line.exec(up.output())?.[1] ?? expect.fail(`no ${name}: ${up.output()}`);
    };
    expect((await fetch(await address('Temporal UI'))).status).toBe(200);
    const page = await fetch(await address('Console'), { headers: { 'accept-language': 'pt' } });
    expect(await page.text()).toContain('<html lang="pt">');

    const [check, issue, status] = BLOCKS.daily.split('\n');
    const checked = await run(check ?? '', 'start');
    const issued = await run(issue ?? '', 'start');
    const listed = await run(status ?? '', 'start');

    expect([checked.code, issued.code, listed.code], issued.output).toEqual([1, 1, 0]);
    expect(checked.output).toMatch(/tax_code: expected a tax code such as IVA_23/u);
    expect(issued.output).toMatch(/Report +\S+report\.html/u);
    expect(listed.output).toMatch(/^batch-sample-\S+ +finished/mu);
    process.kill(-up.pid, 'SIGINT');
    await up.end;
    expect(up.output()).toContain('Leaving: requests on the wire end first');
    // npm ends by the signal itself, as shells expect; what it ran has ended well when its own addresses are taken back.
    await expect(access(join(env('start')['LOTE_DATA_DIR'] ?? '', 'endpoints.json'))).rejects.toThrow('ENOENT');
    await expect(fetch(page.url)).rejects.toThrow('fetch failed');
  });

  it('is told by --help about every command and option that README.md and the pages for users name', async () => {
    const commands = namedCommands(USER_PAGES.join('\n')).map((text) =>
      text.split(' ').filter((word) => /^(?:--)?[a-z-]+$/u.test(word)),
    );
    const named = commands.map((words) => ({
      command: words
        .slice(0, ['nightly', 'profile'].includes(words[0] ?? '') ? 2 : 1)
        .filter((word) => !word.startsWith('-')),
      options: words.filter((word) => word.startsWith('--') && word !== '--help'),
    }));
    const withOptions = named.filter(({ command, options }) => command.length > 0 && options.length > 0);
    const all = await runLote(['--help'], {});
    // A command is named many times, with one option or another.
    const commandsWithOptions = [...new Set(withOptions.map(({ command }) => command.join(' ')))];
    const help = new Map(
      await Promise.all(
        commandsWithOptions.map(
          async (command) => [command, (await runLote([...command.split(' '), '--help'], {})).stdout] as const,
        ),
      ),
    );

    expect(withOptions.length).toBeGreaterThan(4);
    for (const { command } of named) expect(all.stdout).toContain(`  ${command[0] ?? ''} `);
    for (const { command, options } of withOptions)
      for (const option of options) expect(help.get(command.join(' ')), command.join(' ')).toContain(option);
  });
});
