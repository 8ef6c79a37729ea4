import { execFileSync } from 'node:child_process';

/** Of a Node, without its `v`. @throws when the path leads to none */
export function nodeVersion(node: string): string {
  try {
    return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().replace(/^v/, '');
  } catch (error) {
    throw new Error(`--node must be the path of a Node, found "${node}", which does not run`, { cause: error });
  }
}
