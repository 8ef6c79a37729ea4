import { closeSync, fsyncSync, openSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

type Init = NodeFS['init'];

/** The part of Emscripten's bridge to the real files that this class uses. */
interface NodeFiles {
  realPath(node: unknown): string;
  readonly stream_ops: { fsync?: (stream: OpenFile) => number };
}

interface OpenFile {
  readonly node: unknown;
  /** The real file's descriptor; a directory has none. */
  readonly nfd?: number;
}

/**
 * PGlite's files, with commits that survive a power cut. PGlite switches `fsync` off, and its bridge to real files has no `fsync` (electric-sql/pglite#1107).
 * Without this class a power cut may lose acknowledged commits, or tear the database.
 */
export class DurableFiles extends NodeFS {
  readonly #sync: (descriptor: number) => void;

  constructor(directory: string, sync: (descriptor: number) => void = fsyncSync) {
    super(directory);
    this.#sync = sync;
  }

  override async init(...[database, options]: Parameters<Init>): ReturnType<Init> {
    const { emscriptenOpts } = await super.init(database, options);
    const learnToSync = (module: unknown): void => {
      const files = (module as { NODEFS: NodeFiles }).NODEFS;
      files.stream_ops.fsync = (stream) => {
        this.#syncFile(files, stream);
        return 0;
      };
    };
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), learnToSync] } };
  }

  #syncFile(files: NodeFiles, { node, nfd }: OpenFile): void {
    if (nfd !== undefined) {
      this.#sync(nfd);
      return;
    }
    // PostgreSQL also syncs directories, so that file names survive.
    const directory = openSync(files.realPath(node), 'r');
    try {
      this.#sync(directory);
    } finally {
      closeSync(directory);
    }
  }
}

/** PGlite's start parameters with `fsync` on (`-F` switches it off), and with the one sync method that its runtime passes on. */
export const DURABLE_START: readonly string[] = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'wal_sync_method=fsync',
];
