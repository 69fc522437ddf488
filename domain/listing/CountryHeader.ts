/** In which header of a request the edge in front of the service says where it comes from. Filled by src/Config.ts. */
import { Context } from "effect"

/**
 * The header that says where a request comes from.
 *
 * **When to use**
 *
 * Use where what is shown depends on the country. Without an edge in front that sets it, no country is known.
 */
export class CountryHeader extends Context.Service<
  CountryHeader,
  {
    /** In lower case; null when no edge says so, and then no request has a known country. */
    readonly country: string | null
    readonly region: string | null
  }
>()("ballast/domain/listing/CountryHeader") {}
