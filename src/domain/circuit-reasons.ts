/**
 * Code of the reason for which nothing is sent, settled or believed: the words of the service profile contradict each
 * other. No probe ends it, but only the start of a process with a corrected profile.
 */
export const PROFILE_CONTRADICTION = 'profile-contradiction';
