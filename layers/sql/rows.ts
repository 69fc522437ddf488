/**
 * Turns rows into domain values, for reads whose speed is not critical: every row is checked against a schema. A failed
 * statement and a row that does not fit are defects, because no caller could do anything about them.
 */
import { DateTime, Effect, type Option, Schema, SchemaGetter } from "effect"
import type { SqlError } from "effect/sql/SqlError"

type Rows = Effect.Effect<ReadonlyArray<object>, SqlError>

/** Answers all rows of a query. */
export const decodeRows = <A, I>(row: Schema.Codec<A, I>) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(row))
  return (query: Rows): Effect.Effect<ReadonlyArray<A>> => Effect.orDie(Effect.flatMap(query, decode))
}

/** Answers the first row of a query, if there is one. */
export const decodeFirst = <A, I>(row: Schema.Codec<A, I>) => {
  const decode = Schema.decodeUnknownEffect(row)
  return (query: Rows): Effect.Effect<Option.Option<A>> =>
    Effect.orDie(
      Effect.flatMap(query, ([first]) => (first === undefined ? Effect.succeedNone : Effect.asSome(decode(first))))
    )
}

/** A `timestamptz` column. */
export const Timestamp = Schema.DateTimeUtcFromDate

/** An integer kept as `numeric(78, 0)`, which arrives as text. */
export const Numeric = Schema.BigIntFromString

/** A `bigint` column whose values are small enough for a number, such as chain ids and nonces. */
export const SmallBigint = Schema.BigInt.pipe(
  Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transform((value: bigint) => Number(value)),
    encode: SchemaGetter.transform((value: number) => BigInt(value))
  })
)

/** A moment as a statement's parameter. */
export const timestamp = (at: DateTime.Utc): Date => DateTime.toDateUtc(at)

/** A moment as a statement's parameter, or null. */
export const timestampOrNull = (at: DateTime.Utc | null): Date | null => (at === null ? null : DateTime.toDateUtc(at))
