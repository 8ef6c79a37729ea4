import type { CompletedCommand } from './completion-tree.ts';

/** A script for bash 3.2 and later; it needs nothing but bash, and starts no Lote when a key is pressed. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  return `# bash completion for lote; made by: lote completion bash
_lote() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$path $word" in
      ${commandPatterns(commands)}) path="$path $word" ;;
      ${valuePatterns(commands)})
        if ((i + 1 == COMP_CWORD)); then _lote_values "$path $word" "$current"; return; fi
        ((i++)) ;;
    esac
  done
  case "$path" in
${commands.map((command) => branchOf(command)).join('\n')}
  esac
}
_lote_values() {
  case "$1" in
${knownValues(commands).join('\n')}
  esac
}
complete -F _lote lote
`;
}

function commandPatterns(commands: readonly CompletedCommand[]): string {
  return commands
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => quote(wayOf(path)))
    .join(' | ');
}

function valuePatterns(commands: readonly CompletedCommand[]): string {
  return valued(commands)
    .map(({ way }) => quote(way))
    .join(' | ');
}

function knownValues(commands: readonly CompletedCommand[]): readonly string[] {
  const known = valued(commands).filter(({ values }) => values.length > 0);
  return known.map(
    ({ way, values }) => `    ${quote(way)}) COMPREPLY=($(compgen -W ${quote(values.join(' '))} -- "$2")) ;;`,
  );
}

function valued(commands: readonly CompletedCommand[]) {
  return commands.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ name, values }) => ({ way: `${wayOf(path)} ${name}`, values })),
  );
}

function branchOf({ path, commands, options, values, takesFiles }: CompletedCommand): string {
  const words = [...commands.map(({ name }) => name), ...values].join(' ');
  const flags = options.map(({ name }) => name).join(' ');
  const others = takesFiles
    ? `compopt -o filenames 2>/dev/null; local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$current"))`
    : `COMPREPLY=($(compgen -W ${quote(words)} -- "$current"))`;
  return `    ${quote(wayOf(path))})
      case "$current" in
        -*) COMPREPLY=($(compgen -W ${quote(flags)} -- "$current")) ;;
        *) ${others} ;;
      esac ;;`;
}

function wayOf(path: readonly string[]): string {
  return path.map((word) => ` ${word}`).join('');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
