import { Refusal } from '../refusal.ts';
import { damaged } from './limits.ts';
import { openOds } from './ods/open-ods.ts';
import type { Workbook } from './workbook.ts';
import { openXlsx } from './xlsx/open-xlsx.ts';
import { ZipArchive } from './zip-archive.ts';

const ZIP = '504b0304';

/** True for the first bytes of a ZIP archive, which XLSX and ODS files are. */
export function isArchive(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(0, 4)).toString('hex') === ZIP;
}

/**
 * Opens an XLSX or ODS file; the caller closes it.
 * @throws Refusal `format-foreign` for another archive, `workbook-damaged`, `workbook-too-large`, `workbook-encrypted`
 */
export async function openWorkbook(path: string, signal?: AbortSignal): Promise<Workbook> {
  const archive = await ZipArchive.open(path);
  try {
    const workbook = await opened(archive, signal);
    if (workbook.sheets.length === 0) throw damaged('it has no sheet');
    return workbook;
  } catch (error) {
    archive.close();
    throw error;
  }
}

async function opened(archive: ZipArchive, signal?: AbortSignal): Promise<Workbook> {
  if (archive.has('content.xml')) return openOds(archive, signal);
  const names = [...archive.names()];
  if (names.some((name) => name.endsWith('workbook.bin')))
    throw foreign('a binary Excel workbook (XLSB). Save it as XLSX');
  if (!names.some((name) => name.endsWith('workbook.xml')))
    throw foreign('a ZIP archive that is no XLSX or ODS workbook. Drop the file that is in it');
  return openXlsx(archive, signal);
}

function foreign(found: string): Refusal {
  return new Refusal('format-foreign', `Expected CSV, JSON, NDJSON, XLSX or ODS, found ${found}`);
}
