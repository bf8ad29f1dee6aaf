/** Extensions of image paths: no other file on the disk is ever looked at. */
export const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp)$/i;
