/** In which header of a request the edge in front of the service says where it comes from. Filled by src/Config.ts. */
import { Context } from "effect"

export class CountryHeader extends Context.Service<
  CountryHeader,
  {
    /** In lower case; null when no edge says so, and then no request has a known country. */
    readonly country: string | null
    readonly region: string | null
  }
>()("ballast/domain/listing/CountryHeader") {}
