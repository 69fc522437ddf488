/** How documents and figures write a route. */

/** `/v2/portfolios/:portfolioId` as `/v2/portfolios/{portfolioId}`. */
export const templateOf = (routerPath: string): string => routerPath.replaceAll(/:([A-Za-z]+)/g, "{$1}")
