import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { parse, type ParseError } from 'jsonc-parser';
import { z } from 'zod';
import { zoneNamed } from '../../domain/time/zone-name.ts';
import { errorCode } from '../../file-system/error-code.ts';
import type { UseOfService } from './config.ts';
import { EnvApplication, EnvBaseUrl, EnvDuration, EnvSecret, EnvText } from './env-schema.ts';
import { secretList } from './secret-list.ts';

/** A description of an application is some hundred bytes. */
const LARGEST_FILE = 64 * 1024;
/** A host that slept until noon still has its night; one that was off for a day does not start two at once. */
const DEFAULT_CATCH_UP = '12h';
/** Temporal raises a shorter window to ten seconds by itself, and would not say so. */
const SHORTEST_CATCH_UP_MS = 10_000;

/** Batch ids read `<name>-batch-<file>`: with this word in a name, two applications could give two files one id. */
const WORD_OF_IDS = 'batch';

const ApplicationName = EnvApplication.refine((name) => !name.split('-').includes(WORD_OF_IDS), {
  message: `must not hold the word "${WORD_OF_IDS}", which ids of batches are told apart by`,
});

const At = z
  .string()
  .regex(/^(?:[01]?\d|2[0-3]):[0-5]\d$/, { message: 'must be a time of day such as 02:00' })
  .transform((at) => {
    const [hour, minute] = at.split(':').map(Number);
    return { hour: hour ?? 0, minute: minute ?? 0 };
  });

const Timezone = z.string().transform((name, context): string => {
  const zone = zoneNamed(name);
  if (zone !== null) return zone;
  context.addIssue({ code: 'custom', message: 'must be an IANA time zone such as Europe/Lisbon' });
  return z.NEVER;
});

/** What stands in `applications/<file>.json`. Paths count from the working directory, as in the environment. */
const ApplicationFile = z.strictObject({
  name: ApplicationName,
  baseUrl: EnvBaseUrl.optional(),
  apiKeyFile: EnvText,
  webhookSecretFile: EnvText.optional(),
  serviceProfile: EnvText.optional(),
  inputDir: EnvText,
  schedule: z
    .strictObject({
      at: At,
      timezone: Timezone,
      catchUp: EnvDuration.refine((ms) => ms >= SHORTEST_CATCH_UP_MS, { message: 'must be at least 10s' }).prefault(
        DEFAULT_CATCH_UP,
      ),
    })
    .optional(),
  rate: z
    .strictObject({
      requestsPerSecond: z.number().positive().max(100_000).optional(),
      maxConcurrency: z.number().int().min(1).max(1_000).optional(),
    })
    .optional(),
});

/** A file of `applications/` that was read: what it says, with the secrets of the files that it names. Null: not read. */
export interface ApplicationEntry extends z.infer<typeof ApplicationFile> {
  /** The file that says it, for errors. */
  readonly file: string;
  readonly apiKey: string | null;
  readonly webhookSecrets: readonly string[];
}

/**
 * Reads one file. Every mistake in it is told to `fault`, each with its place, and none with a secret. Null: there was
 * one. A process that does `nothing` at the service is given no keys, so that it does not look for them.
 */
export function readApplicationFile(
  file: string,
  use: UseOfService,
  fault: (mistake: string) => void,
): ApplicationEntry | null {
  const faults: string[] = [];
  const at = (place: string, mistake: string): void =>
    void faults.push(`${file}: ${place === '' ? '' : `${place} `}${mistake}`);
  const said = readWords(file, at);
  const secrets = said === null ? null : use === 'nothing' ? NO_SECRETS : secretsOf(said, at);
  for (const mistake of faults) fault(mistake);
  return said === null || secrets === null ? null : { ...said, file, ...secrets };
}

const NO_SECRETS = { apiKey: null, webhookSecrets: [] };

function secretsOf(
  { apiKeyFile, webhookSecretFile }: z.infer<typeof ApplicationFile>,
  fault: Fault,
): Pick<ApplicationEntry, 'apiKey' | 'webhookSecrets'> | null {
  const apiKey = keyOf(apiKeyFile, fault);
  const webhookSecrets = webhookSecretsOf(webhookSecretFile, fault);
  return apiKey === null || webhookSecrets === null ? null : { apiKey, webhookSecrets };
}

/** Told the place in the file, and what is wrong there. */
type Fault = (place: string, mistake: string) => void;

function readWords(file: string, fault: Fault): z.infer<typeof ApplicationFile> | null {
  const text = boundedText(file);
  if (!text.ok) fault('', `must be a readable file of at most ${LARGEST_FILE} bytes; ${text.found}`);
  const json = text.ok ? parsed(text.text) : null;
  if (json?.ok === false) fault('', `must hold one JSON object; it breaks off at ${json.place}`);
  const read = json?.ok === true ? ApplicationFile.safeParse(json.value) : null;
  for (const issue of read?.error?.issues ?? []) fault(issue.path.map(String).join('.'), mistakeOf(issue));
  return read?.data ?? null;
}

function keyOf(path: string, fault: Fault): string | null {
  const key = secretOf(path, 'apiKeyFile', fault);
  if (key === null || EnvSecret.safeParse(key).success) return key;
  fault(
    'apiKeyFile',
    `must name a file with one key, of printable ASCII without spaces; ${path} holds something else.`,
  );
  return null;
}

function webhookSecretsOf(path: string | undefined, fault: Fault): readonly string[] | null {
  if (path === undefined) return [];
  const text = secretOf(path, 'webhookSecretFile', fault);
  const secrets = text === null ? null : secretList(text);
  if (text !== null && secrets === null)
    fault(
      'webhookSecretFile',
      `must name a file with one secret, or several with commas between; ${path} has an empty one.`,
    );
  return secrets;
}

type Text = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly found: string };

/** Never more than the limit is read, whatever the file is by then, and nothing is waited for that is no file. */
function boundedText(path: string): Text {
  let file: number | null = null;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(file).isFile()) return { ok: false, found: 'it is not a regular file.' };
    const buffer = Buffer.alloc(LARGEST_FILE + 1);
    const size = readSync(file, buffer);
    if (size > LARGEST_FILE) return { ok: false, found: 'it is larger.' };
    return { ok: true, text: buffer.toString('utf8', 0, size) };
  } catch (error) {
    return { ok: false, found: `it could not be read (${errorCode(error) || 'unreadable'}).` };
  } finally {
    if (file !== null) closeSync(file);
  }
}

type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly place: string };

/** JSON.parse names no place, and quotes the text, in which somebody may have written a key. */
function parsed(given: string): Parsed {
  const text = given.replace(/^\uFEFF/u, '');
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { disallowComments: true });
  const [first] = errors;
  if (first === undefined) return { ok: true, value };
  const before = text.slice(0, first.offset).split('\n');
  return { ok: false, place: `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}.` };
}

function mistakeOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return `${issue.message.replace(/^Invalid input: /u, 'is invalid: ')}.`;
  const names = issue.keys.map((key) => JSON.stringify(key)).join(', ');
  const inline = issue.keys.some((key) => /key|secret|token/iu.test(key));
  return `knows no field ${names}.${inline ? ' A secret never stands here: name a file that holds it, in apiKeyFile or webhookSecretFile.' : ''}`;
}

function secretOf(path: string, place: string, fault: Fault): string | null {
  const read = boundedText(path);
  if (!read.ok) fault(place, `must name a readable file; ${path}: ${read.found}`);
  else if (read.text.trim() === '') fault(place, `must name a file that holds the secret; ${path} is empty.`);
  else return read.text.trim();
  return null;
}
