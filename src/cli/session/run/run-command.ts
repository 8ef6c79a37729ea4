import type { BatchInput } from '../../../contract/messages.ts';

/** What `lote run` was asked to do. */
export interface RunCommand {
  readonly files: readonly string[];
  readonly json: boolean;
  /** `--application`; left out: there is one. */
  readonly application?: string;
  readonly options: Omit<BatchInput, 'file' | 'ledgerId' | 'application'>;
  /** The files are of no real merchant: a process that works at a real service must not get them. Left out: any may. */
  readonly onlyAtSandbox?: boolean;
  readonly env: NodeJS.ProcessEnv;
}
