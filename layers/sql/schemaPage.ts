/**
 * `docs/schema.md`: the schema that the migrations make, read from a migrated database. Tables stand under the context
 * of the migration that creates them; what is said of them are the comments of the database.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { decodeRows } from "#layers/sql/rows.ts"

/** A migration's file and its text. */
export interface MigrationText {
  readonly file: string
  readonly text: string
}

const NameList = Schema.Array(Schema.String)

const allTables = decodeRows(
  Schema.Struct({
    name: Schema.String,
    kind: Schema.Literals(["r", "v", "S"]),
    isUnlogged: Schema.Boolean,
    comment: Schema.NullOr(Schema.String),
    checks: NameList,
    indexes: NameList,
    triggers: NameList
  })
)
type Table = Effect.Success<ReturnType<typeof allTables>>[number]

const allColumns = decodeRows(
  Schema.Struct({
    table: Schema.String,
    name: Schema.String,
    type: Schema.String,
    isRequired: Schema.Boolean,
    isKey: Schema.Boolean,
    byDefault: Schema.NullOr(Schema.String),
    references: Schema.NullOr(Schema.String),
    comment: Schema.NullOr(Schema.String)
  })
)
type Column = Effect.Success<ReturnType<typeof allColumns>>[number]

/** Sequences of columns are part of these, and the record of migrations is the migrator's. */
const readTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* allTables(sql`
    SELECT c.relname AS name, c.relkind::text AS kind, c.relpersistence = 'u' AS "isUnlogged",
      obj_description(c.oid, 'pg_class') AS comment,
      ARRAY(SELECT pg_get_constraintdef(k.oid) FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c'
        ORDER BY k.conname COLLATE "C")::text[] AS checks,
      ARRAY(SELECT i.relname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
        WHERE x.indrelid = c.oid AND NOT x.indisprimary ORDER BY i.relname COLLATE "C")::text[] AS indexes,
      ARRAY(SELECT t.tgname FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal
        ORDER BY t.tgname COLLATE "C")::text[] AS triggers
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v', 'S')
      AND c.relname <> 'schema_migrations'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'i' AND c.relkind = 'S')`)
})

const readColumns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* allColumns(sql`
    SELECT c.relname AS "table", a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
      a.attnotnull AS "isRequired",
      EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p' AND a.attnum = ANY(k.conkey))
        AS "isKey",
      pg_get_expr(d.adbin, d.adrelid) AS "byDefault",
      (SELECT k.confrelid::regclass::text FROM pg_constraint k
        WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.conkey = ARRAY[a.attnum]) AS references,
      col_description(c.oid, a.attnum) AS comment
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> 'schema_migrations'
    ORDER BY c.relname, a.attnum`)
})

const pageWidth = 120

/** Words in lines of at most the page's width; further lines are indented. */
const wrapped = (text: string, indent = ""): string => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= pageWidth) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(last === undefined ? word : `${indent}${word}`)
  }
  return lines.join("\n")
}

const code = (text: string): string => `\`${text}\``

const columnText = ({ byDefault, comment, isKey, isRequired, name, references, type }: Column): string => {
  const traits = [
    type.replace("timestamp(3) with time zone", "timestamptz(3)"),
    isKey ? "key" : isRequired ? "required" : "",
    byDefault === null ? "" : `${code(byDefault)} by default`,
    references === null ? "" : `of ${code(references)}`
  ].filter((trait) => trait !== "")
  return wrapped(`- ${code(name)} (${traits.join(", ")}): ${comment ?? ""}`, "  ")
}

const listed = (what: string, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.length === 0 ? [] : [wrapped(`${what}: ${names.map(code).join(", ")}.`)]

const tableText = (table: Table, columns: ReadonlyArray<Column>): ReadonlyArray<string> => {
  const kind = { r: table.isUnlogged ? "unlogged table" : "", v: "view", S: "sequence" }[table.kind]
  return [
    `### ${code(table.name)}${kind === "" ? "" : ` (${kind})`}`,
    wrapped(table.comment ?? ""),
    ...(columns.length === 0 ? [] : [columns.map(columnText).join("\n")]),
    ...(table.checks.length === 0 ? [] : [`\`\`\`sql\n${table.checks.join("\n")}\n\`\`\``]),
    ...listed("Indexes", table.indexes),
    ...listed("Triggers", table.triggers)
  ]
}

/** The context of a migration: the first word after its number. */
const contextOf = ({ file }: MigrationText): string => /^\d+_([A-Za-z]+)/u.exec(file)?.[1] ?? file

const created = ({ text }: MigrationText): ReadonlyArray<string> =>
  [...text.matchAll(/CREATE (?:UNLOGGED )?(?:TABLE|VIEW|SEQUENCE) (\w+)/gu)].map(([, name]) => name!)

const preamble = [
  "# Schema",
  wrapped(
    "What the service keeps in PostgreSQL, by context, as the migrations in `migrations/` make it. `npm run schema` " +
      "writes this page from their comments, and a test holds it equal to them on both databases."
  ),
  wrapped(
    "Times are `timestamptz(3)`, in UTC. Amounts are raw units of their asset unless a unit is named; chains are by " +
      "their number, assets by their CAIP-19 id, accounts by their CAIP-10 id. Units of prices and values are US dollars."
  )
]

/** Writes the page of the database that the layer above provides, which the migrations have made. */
export const schemaPage = Effect.fn("schemaPage")(function* (migrations: ReadonlyArray<MigrationText>) {
  const [tables, columns] = yield* Effect.all([readTables, readColumns])
  const contexts = Map.groupBy(migrations, contextOf)
  const sections = [...contexts].flatMap(([context, files]) => {
    const texts = files.flatMap(created).flatMap((name) => {
      const table = tables.find((one) => one.name === name)
      return table === undefined
        ? []
        : tableText(
            table,
            columns.filter((column) => column.table === name)
          )
    })
    return texts.length === 0 ? [] : [`## ${context}`, ...texts]
  })
  return `${[...preamble, ...sections].join("\n\n")}\n`
})
