import type { BatchInput } from '../../contract/messages.ts';

/** What `lote run` was asked to do. */
export interface RunCommand {
  readonly files: readonly string[];
  readonly json: boolean;
  readonly options: Omit<BatchInput, 'file' | 'ledgerId'>;
  readonly env: NodeJS.ProcessEnv;
}
