import { schemaText } from '../../service-profile/json-schema.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';

/** `lote profile schema`. */
export function profileSchemaCommand(): ExitCode {
  process.stdout.write(schemaText());
  return EXIT.ok;
}
