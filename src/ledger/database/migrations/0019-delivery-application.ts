/**
 * Whose receiver took a delivery, where there are several applications: only their own invoices hear of it. NULL: the
 * receiver of one application, as before.
 */
export const DELIVERY_APPLICATION: readonly string[] = [`ALTER TABLE delivery ADD COLUMN application text`];
