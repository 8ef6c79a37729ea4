import type { CompletedCommand, CompletedOption } from './completion-tree.ts';

/** A function for zsh's completion system, with the descriptions of commands and options. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  return `#compdef lote
# zsh completion for lote; made by: lote completion zsh
${commands.map((command) => functionOf(command)).join('\n')}
if [ "$funcstack[1]" = "_lote" ]; then _lote "$@"; else compdef _lote lote; fi
`;
}

function functionOf(command: CompletedCommand): string {
  const { path, commands, options } = command;
  const specs = options.map((option) => quote(specOf(option)));
  if (commands.length === 0) {
    return `${nameOf(path)}() {\n  _arguments ${[...specs, argumentOf(command)].join(' \\\n    ')}\n}`;
  }
  const described = commands.map(({ name, description }) => quote(`${name}:${escape(description)}`));
  const branches = commands.map(({ name }) => `        ${name}) ${nameOf([...path, name])} ;;`);
  return `${nameOf(path)}() {
  local line state
  local -a commands
  commands=(${described.join('\n    ')})
  _arguments -C ${specs.join(' \\\n    ')} '1: :->command' '*:: :->rest'
  case $state in
    command) _describe 'command' commands ;;
    rest)
      case $line[1] in
${branches.join('\n')}
      esac ;;
  esac
}`;
}

function argumentOf({ takesFiles, values }: CompletedCommand): string {
  if (takesFiles) return "'*:file:_files'";
  return values.length > 0 ? quote(`1: :(${values.join(' ')})`) : "'*: :'";
}

function specOf({ name, description, takesValue, values }: CompletedOption): string {
  const value = takesValue ? `:value:${values.length > 0 ? `(${values.join(' ')})` : ''}` : '';
  return `${name}[${escape(description)}]${value}`;
}

function nameOf(path: readonly string[]): string {
  return ['_lote', ...path].join('_').replaceAll('-', '_');
}

/** Brackets and colons have a meaning in a specification. */
function escape(text: string): string {
  return text.replaceAll(/([[\]:\\])/gu, '\\$1');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
