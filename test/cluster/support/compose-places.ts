import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ComposeFile, filledIn, readComposeFile, type ComposeService } from '../../unit/deployment/compose-file.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const compose = ComposeFile.parse(readComposeFile(readFileSync(`${ROOT}docker-compose.yml`, 'utf8')));
/** `ENV NAME=value NAME=value` of the image that the processes of Lote run in. */
const IMAGE_ENV = /^ENV (?<pairs>LOTE_.*)$/mu;

/** Where this machine has what the containers have. */
export interface ComposePlaces {
  /** Variables of the operator: of .env, or of the shell. */
  readonly operator: Readonly<Record<string, string>>;
  /** Whole words: host names, ports, programs. Several words stand for one where an image has a script of its own. */
  readonly words: Readonly<Record<string, string | readonly string[]>>;
  /** Parts of words, the longest first: addresses with their port, folders of containers. */
  readonly parts: readonly (readonly [string, string])[];
}

/** A process that is started as the compose file says. */
export interface ComposeCommand {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A service of docker-compose.yml. @throws Error when there is none of that name. */
export function composeService(name: string): ComposeService {
  const service = compose.services[name];
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return service;
}

/** What a service of docker-compose.yml runs, and its variables, with the places of containers replaced by those of this machine. */
export function composeCommand(name: string, places: ComposePlaces): ComposeCommand {
  const { entrypoint = [], command = [], environment = {}, build } = composeService(name);
  const image = build === undefined ? {} : imageEnvironment();
  const env = Object.entries({ ...image, ...environment }).map(([variable, value]): [string, string] => [
    variable,
    [translated(filledIn(value, places.operator), places)].flat().join(' '),
  ]);
  return {
    words: [...entrypoint, ...command].flatMap((word) => translated(word, places)),
    env: Object.fromEntries(env.filter(([, value]) => value !== '')),
  };
}

function translated(text: string, { words, parts }: ComposePlaces): string | readonly string[] {
  const word = words[text];
  if (word !== undefined) return word;
  return parts.reduce((result, [theirs, ours]) => result.replaceAll(theirs, ours), text);
}

function imageEnvironment(): Record<string, string> {
  const { pairs = '' } = IMAGE_ENV.exec(readFileSync(`${ROOT}Dockerfile`, 'utf8'))?.groups ?? {};
  return Object.fromEntries(pairs.split(' ').map((pair) => pair.split('=') as [string, string]));
}
