/** Reads what is known of issuers from a file: the one that comes with the program, or the deployment's own. */
import { Effect, Layer, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { IssuerPolicies, IssuerPolicyFile } from "#domain/listing/IssuerPolicies.ts"

const checkedIn = new URL("issuers.json", import.meta.url)

/** The file cannot be read, or is not what it should be. */
class IssuerPoliciesInvalid extends Schema.TaggedError<IssuerPoliciesInvalid>()("IssuerPoliciesInvalid", {
  message: Schema.String
}) {}

/** `path` is the value of ISSUER_POLICIES; null for the checked-in file. */
export const IssuerPoliciesLive = (path: string | null) =>
  Layer.effect(
    IssuerPolicies,
    Effect.gen(function* () {
      const text = yield* Effect.tryPromise(() => readFile(path ?? checkedIn, "utf8"))
      const file = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(IssuerPolicyFile))(text)
      const bySlug = new Map(file.issuers.map((policy) => [policy.slug, policy]))
      return IssuerPolicies.of({ version: file.version, of: (slug) => bySlug.get(slug) })
    }).pipe(
      Effect.mapError(
        ({ message }) =>
          new IssuerPoliciesInvalid({
            message: `ISSUER_POLICIES: ${path ?? "the checked-in file"} is not usable: ${message}. Its form is that of layers/catalogue/issuers.json`
          })
      )
    )
  )
