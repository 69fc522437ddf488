/** No issuer trades. */
import { Layer } from "effect"
import { Issuer, IssuerRefused, IssuerTerms } from "#domain/trading/Issuer.ts"

const refusal = new IssuerRefused({ reason: "no issuer is traded with" })

export const NoIssuer = Layer.mergeAll(
  Layer.succeed(Issuer, { quote: () => refusal, signedQuote: () => refusal }),
  Layer.succeed(IssuerTerms, { isOffered: false, deviationBps: 100 })
)
