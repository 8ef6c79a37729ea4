import { Argument, type Command } from 'commander';
import { bashCompletion } from '../completion/bash-completion.ts';
import { completionTree, type CompletedCommand } from '../completion/completion-tree.ts';
import { fishCompletion } from '../completion/fish-completion.ts';
import { zshCompletion } from '../completion/zsh-completion.ts';

const SHELLS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** `lote completion SHELL`: a script of its own, so that pressing a key starts nothing. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(SHELLS)))
    .action((shell: string) => {
      process.stdout.write(SHELLS[shell]?.(completionTree(program)) ?? '');
    });
}
