import type { Argument, Command, Option } from 'commander';

/** One option, as a completion script needs it. */
export interface CompletedOption {
  /** As typed: `--json`. */
  readonly name: string;
  readonly description: string;
  readonly takesValue: boolean;
  /** Known values; none where anything may be typed. */
  readonly values: readonly string[];
}

/** One command, as a completion script needs it. */
export interface CompletedCommand {
  /** Words after `lote`, none for `lote` itself. */
  readonly path: readonly string[];
  readonly description: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  /** Known values of its argument. */
  readonly values: readonly string[];
  readonly takesFiles: boolean;
}

/** Every command with what may follow it, from commander's own tree: nothing is written down twice. */
export function completionTree(command: Command, path: readonly string[] = []): readonly CompletedCommand[] {
  const children = command.commands;
  const [argument] = command.registeredArguments;
  const own: CompletedCommand = {
    path,
    description: command.description(),
    commands: children.map((child) => ({ name: child.name(), description: child.description() })),
    options: [...command.options.map((option) => optionOf(option)), HELP],
    values: argument?.argChoices ?? [],
    takesFiles: isFile(argument),
  };
  return [own, ...children.flatMap((child) => completionTree(child, [...path, child.name()]))];
}

const HELP: CompletedOption = { name: '--help', description: 'display help', takesValue: false, values: [] };

function optionOf(option: Option): CompletedOption {
  return {
    name: option.long ?? option.flags,
    description: option.description,
    takesValue: option.required || option.optional,
    values: option.argChoices ?? [],
  };
}

function isFile(argument: Argument | undefined): boolean {
  return argument?.name() === 'file' || argument?.name() === 'dir';
}
