import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bashCompletion } from '../../../../src/cli/completion/bash-completion.ts';
import { completionTree } from '../../../../src/cli/completion/completion-tree.ts';
import { fishCompletion } from '../../../../src/cli/completion/fish-completion.ts';
import { program } from '../../../../src/cli/program.ts';
import { zshCompletion } from '../../../../src/cli/completion/zsh-completion.ts';
import { runLote } from '../../../support/lote/lote-command.ts';

const run = promisify(execFile);
const tree = completionTree(program);

describe('completion in bash', () => {
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lote-completion-'));
    await writeFile(join(directory, 'lote.bash'), bashCompletion(tree));
    for (const name of ['may.csv', 'may two.csv', 'june.csv']) await writeFile(join(directory, name), '');
  });

  afterAll(() => rm(directory, { recursive: true, force: true }));

  /** As bash itself calls it when the key is pressed after these words. */
  async function complete(...words: readonly string[]): Promise<readonly string[]> {
    const script = `source ./lote.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
      registered=$(complete -p lote); f=\${registered#*-F }; "\${f%% *}"; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = await run('bash', ['--norc', '-c', script, 'bash', ...words], { cwd: directory });
    expect(stderr).toBe('');
    return stdout.split('\n').filter((line) => line !== '');
  }

  it('knows every command', async () => {
    const commands = program.commands.map((command) => command.name());

    expect(await complete('lote', '')).toEqual(commands);
    expect(await complete('lote', 're')).toEqual(commands.filter((name) => name.startsWith('re')));
    expect(await complete('lote', 'nightly', '')).toEqual(['on', 'off', 'now', 'show']);
    expect(await complete('lote', 'completion', 'f')).toEqual(['fish']);
  });

  it('knows the options of each command and not those of others', async () => {
    expect(await complete('lote', 'nightly', 'on', '--t')).toEqual(['--timezone']);
    expect(await complete('lote', 'status', '--')).toEqual(['--application', '--json', '--help']);
    expect(await complete('lote', 'run', 'may.csv', '--exp')).toEqual(['--expect-invoices', '--expect-net']);
  });

  it('knows the values of options, and takes what was given to one for no command', async () => {
    expect(await complete('lote', 'run', '--on-invalid', '')).toEqual(['hold', 'skip']);
    expect(await complete('lote', 'retry', '--state', 'f')).toEqual(['failed']);
    expect(await complete('lote', 'nightly', 'on', '--at', '')).toEqual([]);
    expect(await complete('lote', 'rehearse', '--seed', 'run', '--f')).toEqual(['--faults']);
  });

  it('offers files where files are wanted, also those with a space in their name', async () => {
    expect([...(await complete('lote', 'run', 'ma'))].sort()).toEqual(['may two.csv', 'may.csv']);
    expect(await complete('lote', 'check', 'may.csv', 'j')).toEqual(['june.csv']);
    expect(await complete('lote', 'status', 'ma')).toEqual([]);
  });
});

describe('the command completion', () => {
  it.each(['bash', 'zsh', 'fish'])('prints the script of %s and nothing else', async (shell) => {
    const { code, stdout, stderr } = await runLote(['completion', shell], {});

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`made by: lote completion ${shell}`);
    expect(stdout).toContain('rehearse');
  });

  it('refuses a shell that it does not know, and names those that it does', async () => {
    const { code, stderr } = await runLote(['completion', 'ksh'], {});

    expect(code).toBe(64);
    expect(stderr).toContain('Allowed choices are bash, zsh, fish');
    expect(stderr).toContain('lote completion --help');
  });
});

describe('the scripts of zsh and fish', () => {
  it('name every command and every option with its description', () => {
    const zsh = zshCompletion(tree);
    const fish = fishCompletion(tree);
    for (const { path, options } of tree.filter((command) => command.path.length > 0)) {
      expect(zsh).toContain(`_lote_${path.join('_').replaceAll('-', '_')}()`);
      expect(fish).toContain(`__fish_seen_subcommand_from ${path.at(-1)}`);
      for (const { name } of options) expect(zsh).toContain(`'${name}[`);
    }
    expect(fish).toContain("-l on-invalid -x -a 'hold skip'");
  });

  const readers = [
    ['zsh', '-n', zshCompletion(tree)],
    ['fish', '--no-execute', fishCompletion(tree)],
  ] as const;

  it.each(readers.filter(([shell]) => has(shell)))(
    'are read by %s without a complaint',
    async (shell, check, script) => {
      const directory = await mkdtemp(join(tmpdir(), 'lote-completion-'));
      try {
        await writeFile(join(directory, 'script'), script);
        execFileSync(shell, [check, join(directory, 'script')]);
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
  );
});

function has(shell: string): boolean {
  try {
    execFileSync(shell, ['-c', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
