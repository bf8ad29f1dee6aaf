/** How paths of images end: what else there is on the disk is never looked at. */
export const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp)$/i;
