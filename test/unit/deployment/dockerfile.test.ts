import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const lines = readFileSync('Dockerfile', 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const instructions = lines.map((line) => ({ name: line.split(' ')[0] ?? '', rest: line.slice(line.indexOf(' ') + 1) }));
const allowed = readFileSync('.dockerignore', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1));

function restsOf(name: string): string[] {
  return instructions.filter((instruction) => instruction.name === name).map(({ rest }) => rest);
}

/** Sources of COPY that come from the checkout. */
const copied = restsOf('COPY')
  .filter((rest) => !rest.startsWith('--from='))
  .flatMap((rest) => rest.split(' ').slice(0, -1));

describe('Dockerfile', () => {
  it('has several stages, all on one pinned base, and copies only from stages that exist', () => {
    const stages = restsOf('FROM');
    const names = stages.flatMap((stage) => / AS (\w+)$/.exec(stage)?.[1] ?? []);
    const sources = restsOf('COPY').flatMap((rest) => /^--from=(\w+)/.exec(rest)?.[1] ?? []);

    expect(stages.length).toBeGreaterThan(1);
    expect(new Set(stages.map((stage) => stage.split(' ')[0]))).toEqual(new Set(['node:24-bookworm-slim']));
    expect(names).toEqual(expect.arrayContaining(sources));
  });

  it.each(copied)('copies %s, which exists and is in the build context', (path) => {
    expect(existsSync(path)).toBe(true);
    expect(allowed).toContain(path);
  });

  it('installs from the lock file, without development packages in the last image', () => {
    const installs = restsOf('RUN').filter((rest) => rest.startsWith('npm '));

    expect(installs).toContain('npm ci --omit=dev');
    expect(installs.every((rest) => rest.startsWith('npm ci') || rest === 'npm run build')).toBe(true);
  });

  it('does not run as root, and its command is a process, not a shell that swallows signals', () => {
    const [entrypoint = '', command = ''] = [restsOf('ENTRYPOINT')[0], restsOf('CMD')[0]];

    expect(restsOf('USER').at(-1)).toBe('node');
    expect(JSON.parse(entrypoint)).toEqual(['node', 'bin/lote.js']);
    expect(JSON.parse(command)).toEqual(['worker']);
  });

  it('takes nothing secret or local into the build context', () => {
    expect(readFileSync('.dockerignore', 'utf8').split('\n')[0]).toBe('**');
    for (const path of ['.env', '.lote', 'input', 'reports', '.git', 'node_modules'])
      expect(allowed).not.toContain(path);
  });
});
