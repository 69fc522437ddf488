/** The header in which the edge in front of the service puts the country of a request. Filled by src/Config.ts. */
import { Context } from "effect"

/**
 * The header with the country of a request.
 *
 * **When to use**
 *
 * Use where what is shown depends on the country. Without an edge in front that sets it, no country is known.
 */
export class CountryHeader extends Context.Service<
  CountryHeader,
  {
    /** Country in lower case; null when no edge sets one, and then no request has a known country. */
    readonly country: string | null
    readonly region: string | null
  }
>()("ballast/domain/listing/CountryHeader") {}
