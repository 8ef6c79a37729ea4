import { applicationOfPastDocument, isOfApplication } from '../settling/same-application-sql.ts';

/** That the document of delivery `d` is one of its application, now or in an earlier generation (an SQL condition). */
export const IS_OF_KNOWN_DOCUMENT = `(
  EXISTS (SELECT FROM invoice i WHERE i.service_id = d.service_id AND ${isOfApplication('i.application')})
  OR EXISTS (SELECT FROM invoice_generation g WHERE g.service_id = d.service_id AND ${isOfApplication(applicationOfPastDocument('g.service_id'))}))`;
