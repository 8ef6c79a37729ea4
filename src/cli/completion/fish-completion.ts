import type { CompletedCommand } from './completion-tree.ts';

/** Lines for fish, with the descriptions of commands and options. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap((command) => linesOf(command));
  return ['# fish completion for lote; made by: lote completion fish', 'complete -c lote -f', ...lines, ''].join('\n');
}

function linesOf({ path, commands, options, values, takesFiles }: CompletedCommand): readonly string[] {
  const children = commands.map(({ name }) => name).join(' ');
  const here = [
    ...(path.length === 0 ? ['__fish_use_subcommand'] : path.map((word) => `__fish_seen_subcommand_from ${word}`)),
    ...(path.length > 0 && children !== '' ? [`not __fish_seen_subcommand_from ${children}`] : []),
  ].join('; and ');
  const start = `complete -c lote -n ${quote(here)}`;
  return [
    ...commands.map(({ name, description }) => `${start} -a ${name} -d ${quote(description)}`),
    ...(values.length > 0 ? [`${start} -a ${quote(values.join(' '))}`] : []),
    ...(takesFiles ? [`${start} -F`] : []),
    ...options.map(({ name, description, takesValue, values: known }) => {
      const value = takesValue ? ` -x${known.length > 0 ? ` -a ${quote(known.join(' '))}` : ''}` : '';
      return `${start} -l ${name.replace(/^--/, '')}${value} -d ${quote(description)}`;
    }),
  ];
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
