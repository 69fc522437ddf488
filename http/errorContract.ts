/**
 * Gives a domain error its form on the v2 wire: the envelope with the code and status of the class's own contract.
 *
 * No code is written here; domain/Errors.ts alone has them. Source: interface "v2 envelope".
 */
import { Schema, SchemaTransformation } from "effect"
import { HttpApiSchema } from "effect/http-api"
import type { ErrorContract, RateLimited } from "#domain/Errors.ts"

/** An instance of a class of domain/Errors.ts. */
export interface DomainError {
  readonly message: string
  readonly details?: ReadonlyArray<string>
}

/** A class of domain/Errors.ts. */
export interface ErrorClass<E extends DomainError> extends Schema.Top {
  readonly Type: E
  readonly contract: ErrorContract
  new (props: DomainError): E
}

/** The contract of the class that an error is an instance of. */
export const contractOf = (error: DomainError): ErrorContract =>
  (error.constructor as unknown as { readonly contract: ErrorContract }).contract

/** True for instances of the classes of domain/Errors.ts. */
export const isDomainError = (error: unknown): error is DomainError =>
  error instanceof Error && "contract" in error.constructor

/** The `error` object of an envelope; `details` is left out when the message is complete. */
export const errorFields = (error: DomainError) => ({
  code: contractOf(error).code,
  message: error.message,
  ...(error.details === undefined ? {} : { details: error.details })
})

/** The body of a v2 error answer. */
export const errorBody = (error: DomainError) => ({ success: false as const, error: errorFields(error) })

const envelope = ({ code, meaning, status }: ErrorContract, name: string) =>
  Schema.Struct({
    success: Schema.Literal(false),
    error: Schema.Struct({
      code: Schema.Literal(code),
      message: Schema.String.annotate({ description: "What is wrong and what to do next.", examples: [meaning] }),
      details: Schema.optionalKey(
        Schema.Array(Schema.String).annotate({
          description: "One line a problem, as `field.path: reason`; left out when the message is complete."
        })
      )
    })
  }).annotate({
    identifier: name,
    description: `\`${code}\`: ${meaning}`,
    httpApiStatus: status,
    // Whole, so that no example shows details of another code.
    examples: [{ success: false, error: { code, message: meaning } }]
  })

/** The schema of one error class for the `error` list of an endpoint or a middleware. */
export const wire = <E extends DomainError>(
  self: ErrorClass<E>,
  name: string
): Schema.Codec<E, ReturnType<typeof errorBody>> =>
  envelope(self.contract, name).pipe(
    Schema.decodeTo(
      Schema.toType(self) as Schema.Codec<E>,
      SchemaTransformation.transform({ decode: (body) => new self(body.error), encode: errorBody })
    ),
    HttpApiSchema.status(self.contract.status)
  )

/** As `wire`, with the seconds to wait in `Retry-After`. */
export const wireRetry = (self: typeof RateLimited) =>
  self.pipe(
    HttpApiSchema.encodeToWithHeaders(
      {
        body: envelope(self.contract, "RateLimited"),
        headers: { "retry-after": Schema.FiniteFromString }
      },
      {
        decode: ({ body, headers }) => new self({ ...body.error, retryAfterSeconds: headers["retry-after"] }),
        encode: (error) => ({ body: errorBody(error), headers: { "retry-after": error.retryAfterSeconds } })
      }
    )
  )
