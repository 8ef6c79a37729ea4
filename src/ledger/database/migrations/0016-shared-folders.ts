/** Marks of the folders that the processes of an application share; the same mark stands in a file of the folder. */
export const SHARED_FOLDERS: readonly string[] = [
  `CREATE TABLE shared_folder (
     application text NOT NULL,
     role text NOT NULL,
     mark text NOT NULL,
     PRIMARY KEY (application, role)
   )`,
];
