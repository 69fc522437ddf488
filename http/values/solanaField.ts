/**
 * Fields that only Solana has. The OpenAPI document marks them with `x-caip2-namespace`, and its examples, which are of
 * EVM chains, leave them out.
 */
import { Schema } from "effect"

/** The keyword that names a field as one of Solana in the OpenAPI document. */
export const namespaceKeyword = "x-caip2-namespace"

const solanaOnly = Schema.makeFilter<unknown>(() => true, { toJsonSchema: () => ({ [namespaceKeyword]: "solana" }) })

/** A field that is absent where no Solana account takes part. */
export const solanaField = <S extends Schema.Top>(schema: S) => Schema.optionalKey(schema.check(solanaOnly))
