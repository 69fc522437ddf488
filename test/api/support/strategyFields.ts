/** The keys of a strategy that advertises nothing. */
export const strategyFields = [
  "strategyId",
  "name",
  "description",
  "allocation",
  "schedule",
  "preferences",
  "isPublic",
  "version",
  "createdAt"
]
