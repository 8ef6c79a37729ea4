import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { program } from '../../../../src/cli/program.ts';

interface CommandAt {
  readonly path: readonly string[];
  readonly options: readonly string[];
}

const tree = program.commands.flatMap((command) => commandsFrom(command, [command.name()]));

function commandsFrom(command: Command, path: readonly string[]): readonly CommandAt[] {
  const options = [...command.options.map(({ long, flags }) => long ?? flags), '--help'];
  const children = command.commands.flatMap((child) => commandsFrom(child, [...path, child.name()]));
  return [{ path, options }, ...children];
}

function helpOf(path: readonly string[]): string {
  let command: Command | undefined = program;
  for (const word of path) command = command?.commands.find((child) => child.name() === word);
  let text = '';
  command?.configureOutput({ writeOut: (more) => (text += more) });
  command?.outputHelp();
  return text;
}

describe('the help', () => {
  it('lists every command in a group', () => {
    const text = helpOf([]);

    for (const { path } of tree.filter((command) => command.path.length === 1)) expect(text).toContain(`  ${path[0]}`);
    for (const group of ['Every day:', 'After a batch:', 'Keeping Lote up:', 'Trying things out:'])
      expect(text).toContain(group);
  });

  it.each(tree.map((command) => [command.path.join(' '), command] as const))(
    'of %s shows examples that its options and commands take',
    (name, command) => {
      const [, shown = ''] = helpOf(command.path).split('Examples:\n');
      const examples = shown.split('\n').filter((line) => line.startsWith('  '));
      for (const example of examples) {
        // Settings may stand before it.
        const words = example
          .trim()
          .replace(/^(?:[A-Z_]+=\S+ )*lote /u, '')
          .split(' ');
        expect(words.join(' ').startsWith(name), example).toBe(true);
        for (const flag of words.filter((word) => word.startsWith('--')))
          expect(command.options, example).toContain(flag);
      }
    },
  );
});
